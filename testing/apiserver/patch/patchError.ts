/** A patch that cannot be applied. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  /** What a kube-apiserver answers it with (`interpretStrategicMergePatchError`): most are its own fault, to it. */
  readonly code: 400 | 413 | 422 | 500;

  constructor(message: string, code: PatchError['code'] = 500) {
    super(message);
    this.code = code;
  }
}
