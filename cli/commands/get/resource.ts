/** Parses the kinds of resources that commands accept, under all of their names. */
import { ConfigError } from '../../../node/config/configError.ts';
import { suggestion } from '../../../node/config/fields.ts';

/** The names of each kind, plural first. */
export const KINDS = {
  pods: ['pods', 'pod', 'po'],
  nodes: ['nodes', 'node', 'no'],
  events: ['events', 'event', 'ev'],
  actors: ['actors', 'actor'],
} as const;

/** Advice for kinds that kubectl has and an agent does not, by name. */
const ADVICE: ReadonlyMap<string, string> = new Map(
  (
    [
      [
        'service services svc endpoints ep endpointslices ingress ingresses ing',
        'an agent has no Services: use kubectl',
      ],
      [
        'configmap configmaps cm secret secrets',
        'an agent only reads the ConfigMaps and Secrets that its pods use; "statelet describe pod NAME" names them',
      ],
      [
        'deployment deployments deploy replicaset replicasets rs daemonset daemonsets ds statefulset statefulsets sts job jobs cronjob cronjobs cj',
        'an agent only has the pods of it: use "statelet get pods", or kubectl',
      ],
      ['namespace namespaces ns', 'use "statelet get pods -A", or -n NAMESPACE'],
      ['all', 'use "statelet get pods"'],
      ['pvc persistentvolumeclaims persistentvolumeclaim pv persistentvolumes persistentvolume sc', 'use kubectl'],
    ] as const
  ).flatMap(([names, advice]) => names.split(' ').map((name) => [name, advice] as const)),
);

export type ResourceKind = keyof typeof KINDS;

/** Creates the error for an unknown kind, with advice or a similar name. */
export function unknownKind(
  word: string,
  { known, alternatives = '' }: { readonly known: readonly string[]; readonly alternatives?: string },
): ConfigError {
  const advice = ADVICE.get(word);
  if (advice !== undefined) return new ConfigError(`${word}: ${advice}${alternatives}`);
  return new ConfigError(`${word}: unknown kind of resource${suggestion(word, known) || alternatives}`);
}

/** Parses `KIND`, `KIND NAME` or `KIND/NAME` for a command that accepts `kinds`. */
export function parseResource(
  words: readonly string[],
  kinds: readonly ResourceKind[],
): { readonly kind: ResourceKind; readonly name?: string } {
  const [word = '', name, ...rest] = words.flatMap((each) => each.split('/'));
  const kind = kinds.find((each) => KINDS[each].some((known) => known === word));
  if (kind === undefined) {
    const knownNames = kinds.flatMap((each) => [...KINDS[each]]);
    const alternatives = `; there are ${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)}`;
    throw unknownKind(word, { known: knownNames, alternatives });
  }
  if (name === '' || rest.length > 0) throw new ConfigError(`${words.join(' ')}: expected ${word} or ${word}/NAME`);
  return { kind, ...(name === undefined ? {} : { name }) };
}
