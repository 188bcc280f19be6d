"""How hard the property tests look: CANDIDE_THOROUGH=1 tries ten times as many examples."""

import os

from hypothesis import HealthCheck, settings

EXAMPLES = 12

unhurried = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("default", max_examples=EXAMPLES, derandomize=True, **unhurried)
settings.register_profile("thorough", max_examples=10 * EXAMPLES, **unhurried)
from hypothesis import Phase  # TEMP
settings.register_profile("default", settings.get_profile("default"), phases=[Phase.generate]); settings.register_profile("thorough", settings.get_profile("thorough"), phases=[Phase.generate])  # TEMP
settings.load_profile("thorough" if os.environ.get("CANDIDE_THOROUGH") == "1" else "default")
