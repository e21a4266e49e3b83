"""``Knowledge``: what can be asked of a model that holds a classifier, whatever its vectors are made of."""

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import NDArray

from exll.errors import NothingLearnedError
from exll.estimator import ExLLClassifier
from exll.explain.progress import Progress
from exll.explain.rules import Rule
from exll.explain.suspects import Suspects
from exll.learner.glocal.judgement import FALSE_ALARMS
from exll.learner.megacloud import MegaCloud
from exll.types import Label, RuleLevel


class Knowledge:
    """Passes questions on to ``classifier``, and says in its own name that nothing was learned yet."""

    classifier: ExLLClassifier

    def rules(self, level: RuleLevel = "prototype") -> list[Rule]:
        """IF-THEN rules per prototype, per class (Eq. 15) or per MegaCloud (Eq. 16); ``str(rule)`` is the sentence.

        >>> import numpy as np
        >>> from exll import ImageLearner
        >>> learner = ImageLearner("nano")
        >>> learner.learn(np.zeros((8, 8, 3), np.uint8), "black", ref="night.png")
        >>> print(learner.rules()[0])
        IF it resembles night.png THEN it is "black" (1 of its 1 example, 100%)
        """
        return self._taught().rules(level)

    def progress(self) -> list[Progress]:
        """Which classes need more examples. Per class, the weakest first: how probable the right answer is, for inputs
        like the examples and for inputs from new places, judged by samples left out, and what would help most.

        >>> import numpy as np
        >>> from exll import ImageLearner
        >>> learner = ImageLearner("nano")
        >>> learner.learn(np.zeros((8, 8, 3), np.uint8), "black")
        >>> learner.progress()[0].verdict
        'too early to tell'
        """
        return self._taught().progress()

    def suspects(self) -> Suspects:
        """Examples whose label is probably wrong, the most doubtful first, and images that were taught with two labels.

        From what the model remembers: it needs ``records="vectors"``, the default of an ImageLearner.

        >>> import numpy as np
        >>> from exll import ImageLearner
        >>> learner, image = ImageLearner("nano"), np.zeros((8, 8, 3), np.uint8)
        >>> learner.learn([image, image], ["black", "dark"], ref=["1.png", "2.png"])
        >>> learner.suspects().contradictions
        [Contradiction(names=('1.png', '2.png'), labels=('black', 'dark'))]
        """
        return self._taught().suspects()

    def megacloud(self, label: Label) -> MegaCloud:
        """One class as it is now: mean, count, ids of its prototypes, and the edges between them.

        >>> import numpy as np
        >>> from exll import ImageLearner
        >>> learner = ImageLearner("nano")
        >>> learner.learn(np.zeros((8, 8, 3), np.uint8), "black")
        >>> learner.megacloud("black").count
        1
        """
        return self._taught().megacloud(label)

    def rename_class(self, old: Label, new: Label, *, merge: bool = False) -> Self:
        """Give a class another label. If ``new`` is already a class, ``merge=True`` makes one class of the two.

        >>> import numpy as np
        >>> from exll import ImageLearner
        >>> learner = ImageLearner("nano")
        >>> learner.learn(np.zeros((8, 8, 3), np.uint8), "balck")
        >>> learner.rename_class("balck", "black").classes_
        array(['black'], dtype='<U5')
        """
        self._taught().rename_class(old, new, merge=merge)
        return self

    def novelty_threshold(self, false_alarms: float = FALSE_ALARMS) -> float:
        """The novelty above which an input is called unusual.

        >>> import numpy as np
        >>> from exll import ImageLearner
        >>> learner = ImageLearner("nano")
        >>> learner.learn([np.full((8, 8, 3), grey, np.uint8) for grey in (0, 9, 99)], ["black", "black", "grey"])
        >>> learner.novelty_threshold(0.01) >= learner.novelty_threshold(0.2)
        True
        """
        return self._taught().novelty_threshold(false_alarms)

    def forget_calibration(self) -> Self:
        """Undo all calibration.

        >>> import numpy as np
        >>> from exll import ImageLearner
        >>> learner, images = ImageLearner("nano"), [np.full((8, 8, 3), grey, np.uint8) for grey in (0, 255)]
        >>> learner.learn(images, ["black", "white"])
        >>> learner.calibrate(images, ["black", "white"]).forget_calibration().calibration_count_
        0
        """
        self._taught().forget_calibration()
        return self

    def forget_unknown(self, refs: str | Sequence[str]) -> Self:
        """Forget examples of nothing by their names.

        >>> import numpy as np
        >>> from exll import ImageLearner
        >>> learner = ImageLearner("nano")
        >>> learner.learn_unknown(np.zeros((8, 8, 3), np.uint8), ref="night.png")
        >>> learner.forget_unknown("night.png").n_unknown_
        0
        """
        self.classifier.forget_unknown(refs)
        return self

    @property
    def n_unknown_(self) -> int:
        """How many examples of nothing it remembers."""
        return self.classifier.n_unknown_

    @property
    def calibration_count_(self) -> int:
        """How many examples the model was calibrated with."""
        return self._taught().calibration_count_

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen so far, sorted."""
        return self._taught().classes_

    @property
    def n_prototypes_(self) -> int:
        """How many prototypes all classes have together."""
        return self._taught().n_prototypes_

    @property
    def nbytes_(self) -> int:
        """Bytes of the model, all that it remembers included; without a network."""
        return self._taught().nbytes_

    def _taught(self) -> ExLLClassifier:
        if not hasattr(self.classifier, "learner_"):
            raise NothingLearnedError(f"this {type(self).__name__} has not learned anything yet; call learn first.")
        return self.classifier
