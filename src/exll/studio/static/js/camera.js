/** The webcam as a source of JPEG pictures. */

const LONGEST_SIDE = 640;
const QUALITY = 0.9;

const REASONS = {
  NotAllowedError: ["The browser does not allow the camera.", "Allow it in the address bar, then try again."],
  NotFoundError: ["No camera was found.", "Plug one in, or choose photos instead."],
  NotReadableError: ["Another program uses the camera.", "Close that program, then try again."],
};

export class Camera {
  constructor() {
    this.video = document.createElement("video");
    Object.assign(this.video, { muted: true, playsInline: true });
    this.video.setAttribute("aria-label", "What the camera sees");
    this.stream = null;
  }

  /** @param {string} [device] The id of one of `devices`; else the one that looks away from the person. */
  async open(device) {
    this.close();
    // Browsers give the camera to safe pages alone.
    if (!navigator.mediaDevices)
      throw refusal(["This browser allows no camera on this page.", "Open the studio on this machine, or over https."]);
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({
        video: device ? { deviceId: { exact: device } } : { facingMode: { ideal: "environment" } },
      });
    } catch (error) {
      throw refusal(REASONS[error.name] ?? [`The camera cannot be opened (${error.name}).`, "Choose photos instead."]);
    }
    this.video.srcObject = this.stream;
    await this.video.play();
  }

  close() {
    this.stream?.getTracks().forEach((track) => track.stop());
    this.stream = null;
    this.video.srcObject = null;
  }

  async devices() {
    return (await navigator.mediaDevices.enumerateDevices()).filter((device) => device.kind === "videoinput");
  }

  /** What it sees now. @returns {Promise<Blob>} */
  frame() {
    const { videoWidth: width, videoHeight: height } = this.video;
    const scale = Math.min(1, LONGEST_SIDE / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d").drawImage(this.video, 0, 0, canvas.width, canvas.height);
    return new Promise((done, failed) =>
      canvas.toBlob(
        (blob) => (blob ? done(blob) : failed(refusal(["There is no picture from the camera yet.", "Wait a moment."]))),
        "image/jpeg",
        QUALITY,
      ),
    );
  }
}

const refusal = ([error, hint]) => Object.assign(new Error(error), { hint });
