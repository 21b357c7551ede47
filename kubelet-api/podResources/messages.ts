/**
 * Encodes those fields of the pod-resources API's messages that can be non-empty here
 * (`kubelet/pkg/apis/podresources`).
 */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';

/** A pod and its containers, which have no exclusive devices, CPUs or memory. */
export interface PodResources {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly string[];
}

/** Returns the tag of a length-delimited field. */
const field = (number: number): number => number * 8 + 2;

/**
 * Encodes `ListPodResourcesResponse`, or `GetPodResourcesResponse` with one pod. The messages of v1alpha1 are the same.
 */
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

/**
 * Encodes an empty `AllocatableResourcesResponse`, like that of a kubelet without managers for CPUs, memory and
 * devices.
 */
export const encodeNothing = (): Buffer => Buffer.alloc(0);

export interface PodAsked {
  readonly name: string;
  readonly namespace: string;
}

/** Decodes `GetPodResourcesRequest`. Throws if the bytes are invalid. */
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
