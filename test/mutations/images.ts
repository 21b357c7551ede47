/** Mutations that break the rules on images. */
import type { Mutation } from './mutation.ts';

export const imageMutations: readonly Mutation[] = [
  {
    rule: 'C47',
    breaks: 'pinned images are removed',
    file: 'kubernetes/images/imageGarbage.ts',
    find: 'users.length === 0 && !isPinned)',
    put: 'users.length === 0 && isPinned !== undefined)',
  },
  {
    rule: 'C47',
    breaks: 'images are removed in the order of their detection alone',
    file: 'kubernetes/images/imageGarbage.ts',
    find: 'lastUse(a) - lastUse(b) || ',
    put: '',
  },
  {
    rule: 'C47',
    breaks: 'the maximum age does not wait for the agent to have run for that long',
    file: 'kubernetes/images/imageGarbage.ts',
    find: 'now - startedAt > maxAgeMs && ',
    put: 'startedAt > 0 && ',
  },
  {
    rule: 'C47',
    breaks: 'images that were just detected are removed',
    file: 'actors/images/imageCollector.ts',
    find: '      if (!hasMinimumAge(image, policy, now)) continue;\n',
    put: '      if (!hasMinimumAge(image, policy, Infinity)) continue;\n',
  },
  {
    rule: 'C47',
    breaks: 'an image that a starting pod needs is removed',
    file: 'actors/images/imageClaims.ts',
    find: '    if (this.podsWith(image).length > 0) return false;\n',
    put: '',
  },
  {
    rule: 'C47',
    breaks: 'the image of a volume counts as unused',
    file: 'actors/images/imageCollector.ts',
    find: ', ...(this.#mountedImages.get(container.id) ?? [])]',
    put: ']',
  },
  {
    rule: 'C47',
    breaks: 'the annotation with the images of volumes is ignored',
    file: 'actors/images/imageCollector.ts',
    find: 'annotatedImages(container) ?? ',
    put: '',
  },
  {
    rule: 'C47',
    breaks: 'the first failure of a collection is an event',
    file: 'machines/imageGarbage/chart.ts',
    find: 'collectingState({ reportsFailures: false })',
    put: 'collectingState({ reportsFailures: true })',
  },
];
