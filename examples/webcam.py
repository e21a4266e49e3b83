"""Teach and ask with a webcam: press a digit key to teach that class, q to stop. The window always shows the answer.

pip install opencv-python
python examples/webcam.py [CAMERA OR VIDEO FILE]
"""

import sys

from exll import ImageLearner

try:
    import cv2
except ModuleNotFoundError:
    sys.exit("this example needs OpenCV: pip install opencv-python")

source = sys.argv[1] if len(sys.argv) > 1 else "0"
camera = cv2.VideoCapture(int(source) if source.isdigit() else source)
if not camera.isOpened():
    sys.exit(f"there is no camera or video {source}; usage: python webcam.py [CAMERA OR VIDEO FILE]")
learner = ImageLearner()
taught = 0
while True:
    there, frame = camera.read()
    if not there:
        break
    image = frame[:, :, ::-1].copy()  # OpenCV has the channels in the order blue, green, red
    words = "press 1 to 9 to teach"
    if taught:
        answer = learner.predict(image)
        words = str(answer)  # mug (97.3%, else bowl), or: maybe mug ..., or: unknown (nearest is mug)
    cv2.putText(frame, words, (10, 30), cv2.FONT_HERSHEY_SIMPLEX, 1, (255, 255, 255), 2)
    try:
        cv2.imshow("exll", frame)
    except cv2.error:
        sys.exit("this OpenCV cannot open a window: pip install opencv-python, not opencv-python-headless")
    key = chr(cv2.waitKey(1) & 0xFF)
    if key == "q":
        break
    if key.isdigit():
        learner.learn(image, f"class {key}", ref=f"frame {taught}")
        taught += 1
        print(f"taught {taught}: class {key}")
camera.release()
