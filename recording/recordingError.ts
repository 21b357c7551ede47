/** What is wrong with a recording, for whoever wants to read it. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}
