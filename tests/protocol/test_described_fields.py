"""Every field of a public record is explained, for the help and the site."""

from __future__ import annotations

import inspect

from pydantic import BaseModel

from tests.interface_page import public_objects
from verifyplan.field_docs import field_docs


def test_every_field_of_a_public_model_is_explained():
    models = [each for each in public_objects().values() if inspect.isclass(each) and issubclass(each, BaseModel)]
    assert len(models) > 20
    for model in models:
        below = field_docs(model)
        missing = [name for name, field in model.model_fields.items() if not (field.description or below.get(name))]
        assert not missing, f"{model.__name__}: {missing}"
