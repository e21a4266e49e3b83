/** The webcam as a source of square JPEGs: the middle of what it sees, as small as the network needs. */

const QUALITY = 0.85;

const REASONS = {
  NotAllowedError: ["The browser does not allow the camera.", "Allow it in the address bar, then try again."],
  NotFoundError: ["No camera was found.", "Plug one in, or choose photos instead."],
  NotReadableError: ["Another program uses the camera.", "Close that program, then try again."],
};

export class Camera {
  /** @param {number} side Of a frame, in pixels. */
  constructor(side) {
    this.video = document.createElement("video");
    Object.assign(this.video, { muted: true, playsInline: true });
    this.video.setAttribute("aria-label", "What the camera sees");
    this.canvas = document.createElement("canvas");
    this.canvas.width = this.canvas.height = side;
    this.stream = null;
  }

  /** @param {string} [device] The id of one of `devices`; else the one that looks away from the person. */
  async open(device) {
    this.close();
    // Browsers give the camera to safe pages alone.
    if (!navigator.mediaDevices)
      throw refusal(["This browser does not allow the camera on this page.", "Open the studio on this machine, or over https."]);
    const size = { width: { ideal: 640 }, height: { ideal: 480 } };
    try {
      this.stream = await navigator.mediaDevices.getUserMedia({
        video: { ...size, ...(device ? { deviceId: { exact: device } } : { facingMode: { ideal: "environment" } }) },
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

  /** On to the next camera, where there are several. */
  async change() {
    const devices = await this.devices();
    const now = this.stream?.getVideoTracks()[0].getSettings().deviceId;
    const next = devices[(devices.findIndex(({ deviceId }) => deviceId === now) + 1) % devices.length];
    await this.open(next.deviceId);
  }

  /** The central square of what it sees now. @returns {Promise<Blob>} */
  frame() {
    const { videoWidth: width, videoHeight: height } = this.video;
    const cut = Math.min(width, height);
    const side = this.canvas.width;
    this.canvas
      .getContext("2d")
      .drawImage(this.video, (width - cut) / 2, (height - cut) / 2, cut, cut, 0, 0, side, side);
    return new Promise((done, failed) =>
      this.canvas.toBlob(
        (blob) => (blob ? done(blob) : failed(refusal(["There is no picture from the camera yet.", "Wait a moment."]))),
        "image/jpeg",
        QUALITY,
      ),
    );
  }
}

const refusal = ([error, hint]) => Object.assign(new Error(error), { hint });
