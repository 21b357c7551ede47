/** What who waits for an image shows of it as its own: the look or the pull, and until when. */
import type { ActorRefFrom, AnyActorRef } from 'xstate';
import type { ActorView } from '../../pod/show/view.ts';
import { actorView } from '../shared/actorTree.ts';
import { isFacet } from '../shared/stateMeta.ts';
import type { imageMachine } from './chart.ts';

type ImageRef = ActorRefFrom<typeof imageMachine>;

/** What of an image goes into the view of who waits for it; the view is made again when one of them changes. */
export const shownOfImage = (image: ImageRef | undefined, sinceOf: (ref: AnyActorRef) => number): unknown[] =>
  image ? [image.getSnapshot(), sinceOf(image)] : [];

/** The view of a container or volume, with what its image is at. */
export function withImage<V extends ActorView>(
  view: V,
  image: ImageRef | undefined,
  sinceOf: (ref: AnyActorRef) => number,
): V {
  if (image === undefined) return view;
  const snapshot = image.getSnapshot();
  const { path: _, state, tags, waitingFor, ...shown } = actorView(image, `${view.path}/${image.id}`, sinceOf);
  return {
    ...view,
    ...shown,
    ...(waitingFor ? { waitingFor: ofImage(waitingFor, snapshot.context.image) } : {}),
    state: `${view.state}.${state}`,
    tags: [...tags, ...view.tags.filter(isFacet)],
  };
}

/** The chart says that it is an image; here it is which. */
export const ofImage = (waitingFor: string, image: string): string =>
  waitingFor.replace('its image', () => `image ${image}`);
