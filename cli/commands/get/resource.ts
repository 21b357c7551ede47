/** Parses resource kinds in command arguments. A kind can be written with any of its names. */
import { ConfigError } from '../../../node/config/configError.ts';
import { formatSuggestion } from '../../../node/config/fields/fields.ts';

/** The names of each kind, plural first. */
export const KINDS = {
  pods: ['pods', 'pod', 'po'],
  nodes: ['nodes', 'node', 'no'],
  events: ['events', 'event', 'ev'],
  actors: ['actors', 'actor'],
} as const;

/** Advice for kinds that kubectl supports but this agent does not, keyed by the name of the kind. */
const ADVICE_BY_KIND: ReadonlyMap<string, string> = new Map(
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
        'an agent has no controllers such as Deployments and Jobs, only their pods: use "statelet get pods", or kubectl',
      ],
      ['namespace namespaces ns', 'use "statelet get pods -A", or -n NAMESPACE'],
      ['all', 'use "statelet get pods"'],
      ['pvc persistentvolumeclaims persistentvolumeclaim pv persistentvolumes persistentvolume sc', 'use kubectl'],
    ] as const
  ).flatMap(([names, advice]) => names.split(' ').map((name) => [name, advice] as const)),
);

export type ResourceKind = keyof typeof KINDS;

/** Creates the error for an unknown kind, with advice or a similar name. */
export function unknownKindError(
  kindName: string,
  { knownKinds, alternatives = '' }: { readonly knownKinds: readonly string[]; readonly alternatives?: string },
): ConfigError {
  const advice = ADVICE_BY_KIND.get(kindName);
  if (advice !== undefined) return new ConfigError(`${kindName}: ${advice}${alternatives}`);
  return new ConfigError(
    `${kindName}: unknown kind of resource${formatSuggestion(kindName, knownKinds) || alternatives}`,
  );
}

/** Parses `KIND`, `KIND NAME` or `KIND/NAME` for a command that accepts `allowedKinds`. */
export function parseResource(
  args: readonly string[],
  allowedKinds: readonly ResourceKind[],
): { readonly kind: ResourceKind; readonly name?: string } {
  const [word = '', name, ...rest] = args.flatMap((each) => each.split('/'));
  const kind = allowedKinds.find((each) => KINDS[each].some((name) => name === word));
  if (kind === undefined) {
    const knownKindNames = allowedKinds.flatMap((each) => [...KINDS[each]]);
    const alternatives = `; there are ${allowedKinds.slice(0, -1).join(', ')} and ${allowedKinds.at(-1)}`;
    throw unknownKindError(word, { knownKinds: knownKindNames, alternatives });
  }
  if (name === '' || rest.length > 0) throw new ConfigError(`${args.join(' ')}: expected ${word} or ${word}/NAME`);
  return { kind, ...(name === undefined ? {} : { name }) };
}
