"""How hard the property tests look: CANDIDE_THOROUGH=1 tries four times as many examples."""

import os

from hypothesis import HealthCheck, settings

EXAMPLES = 10

unhurried = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("default", max_examples=EXAMPLES, derandomize=True, **unhurried)
settings.register_profile("thorough", max_examples=4 * EXAMPLES, derandomize=True, **unhurried)
settings.load_profile("thorough" if os.environ.get("CANDIDE_THOROUGH") == "1" else "default")
