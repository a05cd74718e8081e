"""What parts of releases tell, as values, and what they tell together.

Each mechanism says its `Loss`. `delta_at` and `epsilon_at` compose them, for a plan that was fixed
beforehand, by the rule of composition that proves most; a `Filter` is a cap under which losses may
be chosen on the way. All of it is about indistinguishability: probabilistic differential privacy
adds up (docs/proofs/composition.md).
"""

from zealous.privacy.composition.caps import Filter, Spent
from zealous.privacy.composition.loss import Loss, across_releases
from zealous.privacy.composition.rules import delta_at, epsilon_at, proof_at

__all__ = ["Filter", "Loss", "Spent", "across_releases", "delta_at", "epsilon_at", "proof_at"]
