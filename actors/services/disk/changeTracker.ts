import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodIdentity } from '../../../kubernetes/lifecycle/observed.ts';

/** A sandbox or container that the runtime has, by its ID. */
export interface FoundObject {
  readonly id: string;
  readonly pod: PodIdentity;
}

/**
 * Records which pods a service has changed, and which objects it has found in the runtime, until the PLEG takes the
 * record.
 */
export function createChangeTracker() {
  const changed = new Map<string, Pod['metadata']>();
  const found = new Map<string, FoundObject>();
  const trackingChanges =
    <Input extends { pod: Pod }, Options, Answer>(service: (input: Input, options: Options) => Promise<Answer>) =>
    async (input: Input, options: Options): Promise<Answer> => {
      const answer = await service(input, options);
      changed.set(input.pod.metadata.uid, input.pod.metadata);
      return answer;
    };
  const trackingFinds =
    <Input, Options, Answer extends { readonly id: string }>(
      service: (input: Input, options: Options) => Promise<Answer | null>,
      podOf: (input: Input, answer: Answer) => PodIdentity,
    ) =>
    async (input: Input, options: Options): Promise<Answer | null> => {
      const answer = await service(input, options);
      if (answer !== null) found.set(answer.id, { id: answer.id, pod: podOf(input, answer) });
      return answer;
    };
  return {
    trackingChanges: trackingChanges,
    trackingFinds: trackingFinds,
    takeChanged: () => takeValues(changed),
    takeFound: () => takeValues(found),
  };
}

function takeValues<T>(map: Map<string, T>): readonly T[] {
  const values = [...map.values()];
  map.clear();
  return values;
}
