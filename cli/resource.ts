/** The kinds of resources that commands know, under all of their names. */
import { ConfigError } from '../node/config/configError.ts';
import { suggestion } from '../node/config/fields.ts';

/** Each kind with its names, the one for lists first. */
export const KINDS = {
  pods: ['pods', 'pod', 'po'],
  nodes: ['nodes', 'node', 'no'],
  events: ['events', 'event', 'ev'],
  actors: ['actors', 'actor'],
} as const;

export type ResourceKind = keyof typeof KINDS;

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
    throw new ConfigError(`${word}: unknown kind of resource${suggestion(word, known) || there}`);
  }
  if (name === '' || rest.length > 0) throw new ConfigError(`${words.join(' ')}: expected ${word} or ${word}/NAME`);
  return { kind, ...(name === undefined ? {} : { name }) };
}
