/** The messages of the pod-resources API on the wire, as far as they are not empty here (`kubelet/pkg/apis/podresources`). */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';

/** A pod with its containers: devices, CPUs and memory of their own they have none. */
export interface PodResources {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly string[];
}

/** The number of a field of length-delimited type, with that type, as it stands on the wire. */
const field = (number: number): number => number * 8 + 2;

/** `ListPodResourcesResponse`, and `GetPodResourcesResponse` with one pod; those of v1alpha1 are the same. */
export function encodePods(pods: readonly PodResources[]): Buffer {
  const writer = new BinaryWriter();
  for (const pod of pods) {
    writer.uint32(field(1)).fork();
    for (const [number, text] of [
      [1, pod.name],
      [2, pod.namespace],
    ] as const)
      if (text !== '') writer.uint32(field(number)).string(text);
    for (const name of pod.containers) writer.uint32(field(3)).fork().uint32(field(1)).string(name).join();
    writer.join();
  }
  return Buffer.from(writer.finish());
}

/** `AllocatableResourcesResponse`: as of a kubelet without managers of CPUs, memory and devices, there are none to give. */
export const encodeNothing = (): Buffer => Buffer.alloc(0);

export interface PodAsked {
  readonly name: string;
  readonly namespace: string;
}

/** `GetPodResourcesRequest`; throws for what is none. */
export function decodePodAsked(bytes: Uint8Array): PodAsked {
  const reader = new BinaryReader(bytes);
  let [name, namespace] = ['', ''];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === field(1)) name = reader.string();
    else if (tag === field(2)) namespace = reader.string();
    else reader.skip(tag & 7);
  }
  return { name, namespace };
}
