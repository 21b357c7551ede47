/** A problem with a recording. The message is shown to the user. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}
