/**
 * The categories of states, from most to least severe. They determine colors and sort order. Each state has exactly one
 * of them as a tag.
 */
export const CATEGORIES = ['broken', 'retrying', 'failed', 'waiting', 'working', 'steady', 'done'] as const;

export type Category = (typeof CATEGORIES)[number];

/** Returns the category among the tags of a state. */
export const findCategory = (tags: Iterable<string>): Category | undefined => {
  const tagSet = new Set(tags);
  return CATEGORIES.find((each) => tagSet.has(each));
};

/** Whether a state needs no attention. */
export const isHealthy = (category: Category): boolean => category === 'steady' || category === 'done';

/** Descriptions of healthy actors, keyed by tags that are more specific than the category. */
const TEXT_BY_TAG = {
  running: 'is running',
  active: 'is running',
  mounted: 'is mounted',
  passing: 'is passing',
  ended: 'has ended',
  rests: 'has ended',
} as const;

const TEXT_BY_CATEGORY = {
  broken: 'is broken',
  retrying: 'is retrying',
  failed: 'has failed',
  waiting: 'is waiting',
  working: 'is busy',
  steady: 'is in order',
  done: 'is done',
} as const satisfies Record<Category, string>;

/** Describes an actor that is not waiting, e.g. `is running`. The text follows the actor's name in a sentence. */
export function conditionText(actor: { readonly tags: readonly string[] }): string {
  const category = categoryOf(actor);
  const tagText = Object.entries(TEXT_BY_TAG).find(([tag]) => actor.tags.includes(tag));
  return isHealthy(category) && tagText ? tagText[1] : TEXT_BY_CATEGORY[category];
}

/** Compares two categories by severity. The most severe one comes first. */
export const compareSeverity = (a: Category, b: Category): number => CATEGORIES.indexOf(a) - CATEGORIES.indexOf(b);

/**
 * Returns an actor's state without the substates that change with each attempt of a probe. The result of the probe
 * remains part of the returned state.
 */
export const stableState = ({ state, tags }: { readonly state: string; readonly tags: readonly string[] }): string =>
  tags.includes('passing') || tags.includes('failing') ? (state.split('.')[0] ?? state) : state;

/**
 * Returns the category shown for an actor. A probe shows the result of its last attempt rather than the attempt in
 * progress. A state without a category is a bug and is shown as `broken`.
 */
export function categoryOf({ tags }: { readonly tags: readonly string[] }): Category {
  const category = findCategory(tags) ?? 'broken';
  if (category !== 'working' && category !== 'waiting') return category;
  if (tags.includes('passing')) return 'steady';
  return tags.includes('failing') ? 'retrying' : category;
}
