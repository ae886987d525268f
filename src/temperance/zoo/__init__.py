"""Targets with known answers, for tests, benchmarks and first steps.

Each function makes a `Problem`: a compiled log density, where to start, and what is known exactly.
"""

from temperance.zoo.bananas import two_bananas
from temperance.zoo.curved import banana, funnel
from temperance.zoo.cylinders import twenty_cylinders
from temperance.zoo.epidemics import epidemic
from temperance.zoo.exponentials import two_exponentials
from temperance.zoo.gaussians import gaussian, two_modes
from temperance.zoo.hidden import distant_modes, flat_box, spike
from temperance.zoo.high import far_pair, many_well
from temperance.zoo.labels import label_switching
from temperance.zoo.normals import three_normals
from temperance.zoo.oriented import oriented_modes
from temperance.zoo.peaks import twenty_peaks
from temperance.zoo.posterior import Posterior
from temperance.zoo.problem import Problem
from temperance.zoo.registry import get, names
from temperance.zoo.regression import bridge, bridge_data
from temperance.zoo.rings import rings
from temperance.zoo.scattered import many_modes
from temperance.zoo.sensors import localisation
from temperance.zoo.shells import gaussian_shells
from temperance.zoo.sinusoids import sinusoid
from temperance.zoo.skewed import skew_modes
from temperance.zoo.students import student_modes
from temperance.zoo.uneven import rare_mode, unequal_widths

__all__ = [
    "Posterior",
    "Problem",
    "banana",
    "bridge",
    "bridge_data",
    "distant_modes",
    "epidemic",
    "far_pair",
    "flat_box",
    "funnel",
    "gaussian",
    "gaussian_shells",
    "get",
    "label_switching",
    "localisation",
    "many_modes",
    "many_well",
    "names",
    "oriented_modes",
    "rare_mode",
    "rings",
    "sinusoid",
    "skew_modes",
    "spike",
    "student_modes",
    "three_normals",
    "twenty_cylinders",
    "twenty_peaks",
    "two_bananas",
    "two_exponentials",
    "two_modes",
    "unequal_widths",
]
