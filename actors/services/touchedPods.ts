import type { Pod } from '../../pod/api/schema/pod.ts';

/** Remembers which pods a service has made something of, from its answer on until they are taken. */
export function touchedPods() {
  const touched = new Map<string, Pod['metadata']>();
  const touching =
    <Input extends { pod: Pod }, Options, Answer>(service: (input: Input, options: Options) => Promise<Answer>) =>
    async (input: Input, options: Options): Promise<Answer> => {
      const answer = await service(input, options);
      touched.set(input.pod.metadata.uid, input.pod.metadata);
      return answer;
    };
  const takeTouched = () => {
    const pods = [...touched.values()];
    touched.clear();
    return pods;
  };
  return { touching, takeTouched };
}
