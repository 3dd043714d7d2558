"""The study as a whole."""
from evidentia.studies.friel_wyse import pima, table_1, table_2
from evidentia.studies.friel_wyse.parts import Part
def all_parts() -> list[Part]:
    return [*table_1.parts(), *table_2.parts(), *pima.parts()]
