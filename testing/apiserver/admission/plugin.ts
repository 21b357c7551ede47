/** What an admission plugin is asked, and what it may answer. */
import type { JsonObject } from '../json.ts';
import type { Surroundings } from '../registry/strategy.ts';
import type { User } from '../request.ts';
import type { Target } from '../resources/target.ts';

/** A write that is to be admitted. */
export interface Asked {
  readonly target: Target;
  readonly user: User;
  /** Undefined: it is to be deleted. */
  readonly object: JsonObject | undefined;
  /** Undefined: it is new. */
  readonly before: JsonObject | undefined;
  readonly registry: Surroundings;
}

/** Answers the object that is to be written, changed perhaps; throws a `Failure` where it must not be. */
export type Admission = (asked: Asked) => JsonObject;

/** One that answers undefined leaves the object as it is. */
export type Plugin = (asked: Asked) => JsonObject | undefined;

/** Whether a new pod is to be admitted. */
export const isNewPod = ({ target: { resource, subresource }, object, before }: Asked): boolean =>
  resource.name === 'pods' && subresource === undefined && object !== undefined && before === undefined;
