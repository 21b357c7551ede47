/** The interface of admission plugins. */
import type { JsonObject } from '../json.ts';
import type { RegistryContext } from '../registry/strategy.ts';
import type { User } from '../requests/request.ts';
import type { Target } from '../resources/target.ts';

/** A write to be admitted. */
export interface AdmissionRequest {
  readonly target: Target;
  readonly user: User;
  /** Undefined on delete. */
  readonly object: JsonObject | undefined;
  /** Undefined on create. */
  readonly before: JsonObject | undefined;
  readonly registry: RegistryContext;
}

/** Returns the object to be written, possibly changed. Throws a `Failure` to reject the write. */
export type Admission = (request: AdmissionRequest) => JsonObject;

/** An admission plugin. Returns the changed object, or undefined to leave it unchanged. */
export type Plugin = (request: AdmissionRequest) => JsonObject | undefined;

/** Whether the request creates a pod. */
export const isNewPod = ({ target: { resource, subresource }, object, before }: AdmissionRequest): boolean =>
  resource.name === 'pods' && subresource === undefined && object !== undefined && before === undefined;
