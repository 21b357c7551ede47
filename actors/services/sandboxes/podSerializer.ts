/**
 * Returns a function that runs the tasks on a pod's files sequentially, except that tasks for different volumes of the
 * pod run concurrently. This includes tasks whose caller no longer waits, because a removal must not overtake the
 * creation of the same files.
 */
export function createPodSerializer() {
  const tasksByPod = new Map<string, PodTasks>();
  return <T>({ uid, volume }: { uid: string; volume?: string }, act: () => Promise<T>): Promise<T> => {
    const pod = tasksByPod.get(uid) ?? { lastPodTask: Promise.resolve(), volumes: new Map(), pendingCount: 0 };
    tasksByPod.set(uid, pod);
    const precedingTasks =
      volume === undefined ? [pod.lastPodTask, ...pod.volumes.values()] : [pod.volumes.get(volume) ?? pod.lastPodTask];
    const task = Promise.allSettled(precedingTasks).then(act);
    if (volume !== undefined) pod.volumes.set(volume, task);
    else [pod.lastPodTask, pod.volumes] = [task, new Map()];
    pod.pendingCount += 1;
    const forgetTask = () => {
      pod.pendingCount -= 1;
      if (pod.pendingCount === 0) tasksByPod.delete(uid);
    };
    task.then(forgetTask, forgetTask);
    return task;
  };
}

interface PodTasks {
  /** The last task that concerns the whole pod. */
  lastPodTask: Promise<unknown>;
  /** The last task of each volume since `lastPodTask`. */
  volumes: Map<string, Promise<unknown>>;
  pendingCount: number;
}
