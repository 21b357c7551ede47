import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodIdentity } from '../../../kubernetes/lifecycle/observed.ts';

/** Something of a pod that the runtime has by its own word, by its id there. */
export interface FoundOfPod {
  readonly id: string;
  readonly pod: PodIdentity;
}

/** Remembers which pods a service has made or found something of, from its answer on until they are taken. */
export function touchedPods() {
  const touched = new Map<string, Pod['metadata']>();
  const found = new Map<string, FoundOfPod>();
  const touching =
    <Input extends { pod: Pod }, Options, Answer>(service: (input: Input, options: Options) => Promise<Answer>) =>
    async (input: Input, options: Options): Promise<Answer> => {
      const answer = await service(input, options);
      touched.set(input.pod.metadata.uid, input.pod.metadata);
      return answer;
    };
  const finding =
    <Input, Options, Answer extends { readonly id: string }>(
      service: (input: Input, options: Options) => Promise<Answer | null>,
      podOf: (input: Input, answer: Answer) => PodIdentity,
    ) =>
    async (input: Input, options: Options): Promise<Answer | null> => {
      const answer = await service(input, options);
      if (answer !== null) found.set(answer.id, { id: answer.id, pod: podOf(input, answer) });
      return answer;
    };
  return { touching, finding, takeTouched: () => taken(touched), takeFound: () => taken(found) };
}

function taken<T>(all: Map<string, T>): readonly T[] {
  const values = [...all.values()];
  all.clear();
  return values;
}
