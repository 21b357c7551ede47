/** What a state is, for people and for colours: one of the seven tags that each has exactly one of, the worst first. */
export const CATEGORIES = ['broken', 'retrying', 'failed', 'waiting', 'working', 'steady', 'done'] as const;

export type Category = (typeof CATEGORIES)[number];

/** The one of the seven among the tags of a state. */
export const categoryIn = (tags: Iterable<string>): Category | undefined => {
  const all = new Set(tags);
  return CATEGORIES.find((each) => all.has(each));
};

/** Whether nothing has to be said of it: it rests as it should, or has ended well. */
export const isWell = (category: Category): boolean => category === 'steady' || category === 'done';

/** Conditions of actors that are well, by tags that say more than the category. */
const BY_TAG = {
  running: 'is running',
  active: 'is running',
  mounted: 'is mounted',
  passing: 'is passing',
  ended: 'has ended',
  rests: 'has ended',
} as const;

const BY_CATEGORY = {
  broken: 'is broken',
  retrying: 'is retrying',
  failed: 'has failed',
  waiting: 'is waiting',
  working: 'is busy',
  steady: 'is in order',
  done: 'is done',
} as const satisfies Record<Category, string>;

/** Says how an actor is that waits for nothing, without the name of its state: `is running`. Follows the actor's name. */
export function conditionText(actor: { readonly tags: readonly string[] }): string {
  const category = categoryOf(actor);
  const byTag = Object.entries(BY_TAG).find(([tag]) => actor.tags.includes(tag));
  return isWell(category) && byTag ? byTag[1] : BY_CATEGORY[category];
}

/** Orders the worst first. */
export const byWorst = (a: Category, b: Category): number => CATEGORIES.indexOf(a) - CATEGORIES.indexOf(b);

/** A state without what changes with each try of a probe; what the tries have found is in it. */
export const lastingState = ({ state, tags }: { readonly state: string; readonly tags: readonly string[] }): string =>
  tags.includes('passing') || tags.includes('failing') ? (state.split('.')[0] ?? state) : state;

/**
 * What an actor is, as it is shown. A probe that is tried is as it was found last: tries come and go, and are no news. A
 * state without any of the seven would be a mistake of the program.
 */
export function categoryOf({ tags }: { readonly tags: readonly string[] }): Category {
  const own = categoryIn(tags) ?? 'broken';
  if (own !== 'working' && own !== 'waiting') return own;
  if (tags.includes('passing')) return 'steady';
  return tags.includes('failing') ? 'retrying' : own;
}
