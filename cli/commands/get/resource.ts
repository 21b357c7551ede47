/** The kinds of resources that commands know, under all of their names. */
import { ConfigError } from '../../../node/config/configError.ts';
import { suggestion } from '../../../node/config/fields.ts';

/** Each kind with its names, the one for lists first. */
export const KINDS = {
  pods: ['pods', 'pod', 'po'],
  nodes: ['nodes', 'node', 'no'],
  events: ['events', 'event', 'ev'],
  actors: ['actors', 'actor'],
} as const;

/** Where to look for a kind that kubectl knows and an agent does not have, by each of its names. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
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

/** Creates the error for a kind that no agent has: where else to look for it, or which kind was probably meant. */
export function unknownKind(
  word: string,
  { known, there = '' }: { readonly known: readonly string[]; readonly there?: string },
): ConfigError {
  const advice = ELSEWHERE.get(word);
  if (advice !== undefined) return new ConfigError(`${word}: ${advice}${there}`);
  return new ConfigError(`${word}: unknown kind of resource${suggestion(word, known) || there}`);
}

/** What `KIND`, `KIND NAME` or `KIND/NAME` names, of the kinds that a command knows. */
export function resourceOf(
  words: readonly string[],
  kinds: readonly ResourceKind[],
): { readonly kind: ResourceKind; readonly name?: string } {
  const [word = '', name, ...rest] = words.flatMap((each) => each.split('/'));
  const kind = kinds.find((each) => KINDS[each].some((known) => known === word));
  if (kind === undefined) {
    const known = kinds.flatMap((each) => [...KINDS[each]]);
    const there = `; there are ${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)}`;
    throw unknownKind(word, { known, there });
  }
  if (name === '' || rest.length > 0) throw new ConfigError(`${words.join(' ')}: expected ${word} or ${word}/NAME`);
  return { kind, ...(name === undefined ? {} : { name }) };
}
