from tests.verifying import everything_agrees as everything_agrees
