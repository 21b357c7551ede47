/**
 * Returns a function that serializes the work on each pod's files, including work whose caller no longer waits, because
 * a removal must not overtake the creation of the same files. Tasks of different volumes of a pod run concurrently.
 */
export function createPodSerializer() {
  const tasksByPod = new Map<string, PodTasks>();
  return <T>({ uid, volume }: { uid: string; volume?: string }, act: () => Promise<T>): Promise<T> => {
    const pod = tasksByPod.get(uid) ?? { last: Promise.resolve(), volumes: new Map(), pendingCount: 0 };
    tasksByPod.set(uid, pod);
    const predecessors =
      volume === undefined ? [pod.last, ...pod.volumes.values()] : [pod.volumes.get(volume) ?? pod.last];
    const task = Promise.allSettled(predecessors).then(act);
    if (volume !== undefined) pod.volumes.set(volume, task);
    else [pod.last, pod.volumes] = [task, new Map()];
    pod.pendingCount += 1;
    const forget = () => {
      pod.pendingCount -= 1;
      if (pod.pendingCount === 0) tasksByPod.delete(uid);
    };
    task.then(forget, forget);
    return task;
  };
}

interface PodTasks {
  /** The last task that concerns the whole pod. */
  last: Promise<unknown>;
  /** The last task of each volume since `last`. */
  volumes: Map<string, Promise<unknown>>;
  pendingCount: number;
}
