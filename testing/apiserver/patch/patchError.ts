/** The error of a patch that cannot be applied. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  /**
   * The status code of the kube-apiserver (`interpretStrategicMergePatchError`), which treats most of these errors as
   * its own.
   */
  readonly code: 400 | 413 | 422 | 500;

  constructor(message: string, code: PatchError['code'] = 500) {
    super(message);
    this.code = code;
  }
}
