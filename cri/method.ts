/** What a call needs of its generated definition. */
export interface Method<Request, Answer> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Answer;
}

/** The method's own name, for messages: `/runtime.v1.RuntimeService/Version` is `Version`. */
export function methodName(method: { readonly path: string }): string {
  return method.path.slice(method.path.lastIndexOf('/') + 1);
}
