"""Tables, figures and pages of a study: draws what measures/ and attacks/ computed."""
