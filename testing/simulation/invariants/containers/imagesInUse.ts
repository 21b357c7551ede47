import type { AnyActorRef } from 'xstate';
import type { SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import { childrenOf } from '../../../../machines/shared/views/actorTree.ts';
import type { ContainerRef } from '../../../../machines/shared/views/views.ts';
import { fullName } from '../../host/host.ts';
import type { Invariant } from '../invariant.ts';

/** Tags of a container actor whose image is present but whose container does not exist at the runtime yet. */
const CREATION_TAGS = ['readyToCreate', 'creatingContainer'] as const;

/** Returns the names of the containers that are about to be created from an image. */
function awaitedCreations(root: AnyActorRef | undefined, imageId: string): string[] {
  if (root === undefined) return [];
  // The prefix of an ID determines which machine the actor runs.
  const containers = childrenOf(root.getSnapshot(), 'pod/').flatMap((pod) =>
    childrenOf<ContainerRef>(pod.getSnapshot(), 'container/').map((container) => ({ pod, container })),
  );
  return containers.flatMap(({ pod, container }) => {
    const snapshot = container.getSnapshot();
    const isAwaited = CREATION_TAGS.some((tag) => snapshot.hasTag(tag)) && snapshot.context.imageRef === imageId;
    return isAwaited ? [`${pod.id} ${container.id}`] : [];
  });
}

const usesImage = ({ imageId, mounts }: SimulatedContainer, id: string): boolean =>
  imageId === id || mounts.some(({ image }) => image?.image === id);

export const imagesInUse: Invariant = {
  description:
    'An image that the agent removes is neither pinned nor in use, and no container is about to be created from it.',
  follow: (watched, violated) => {
    let listedAt = 0;
    return {
      onCall: ({ target, name, about: id }) => {
        if (target !== 'runtime') return;
        const { host, root } = watched;
        if (name === 'listImages') listedAt = host.clock.now();
        if (name !== 'removeImage') return;
        const image = host.runtime.images.listed().find((each) => each.id === id);
        if (image?.pinned) violated(`the pinned image ${id} is removed`);
        const own = new Set([...host.containers()].map((each) => each.id));
        for (const container of host.runtime.containers()) {
          if (!usesImage(container, id)) continue;
          // Another agent may have created the container after this agent listed all containers.
          const isKnown = own.has(container.id) || container.createdAt < listedAt;
          if (!isKnown || host.runtimeFaults.wasHidden(container.id)) continue;
          violated(`image ${id} is removed while ${container.containerName} of ${fullName(container)} uses it`);
        }
        for (const container of awaitedCreations(root, id)) {
          violated(`image ${id} is removed while ${container} is about to be created from it`);
        }
      },
    };
  },
};
