/** The parts of a generated method definition that are required for calling the method. */
export interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/** Returns the short name of a method for messages, e.g. `Version` for `/runtime.v1.RuntimeService/Version`. */
export function methodName(method: { readonly path: string }): string {
  return method.path.slice(method.path.lastIndexOf('/') + 1);
}
