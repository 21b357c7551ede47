/** A problem with a recording, with a message for the user. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}
