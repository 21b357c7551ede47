/** An error response of the API server, thrown by a failed call. */

const REASONS: ReadonlyMap<number, string> = new Map([
  [403, 'Forbidden'],
  [410, 'Expired'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
]);

/** The Retry-After header of an overloaded server, in seconds. */
const RETRY_AFTER = '1';

export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly code: number;

  constructor(code: number) {
    super(`the API server answers with code ${code}`);
    this.code = code;
  }

  get headers(): ReadonlyMap<string, string> {
    return new Map(this.code === 429 ? [['retry-after', RETRY_AFTER]] : []);
  }

  get body(): string {
    const { code, message } = this;
    return JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code,
      message,
      reason: REASONS.get(code),
    });
  }
}
