"""The exact delta of each mechanism's noise, and the parameters that meet one."""
