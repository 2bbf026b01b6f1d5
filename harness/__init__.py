"""Tell, with evidence, whether a language model still behaves when it drives a real control plane.

scenario -> workspace -> actor <-> bounded loop <-> gate <-> control plane -> classifiers -> receipt -> decision

Layers, each knowing only those before it (a test holds it):
``errors, schema`` <- ``ports, redaction`` <- mechanisms that never import each other <- ``episode`` and the plural
folders <- ``suite`` <- ``catalog`` <- ``wiring`` <- ``cli, pytest_plugin``. A plural folder holds interchangeable
entries, one file each; a singular unit is one mechanism.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
