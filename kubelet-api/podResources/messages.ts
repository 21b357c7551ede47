/**
 * Encodes those fields of the pod-resources API's messages that can be non-empty here
 * (`kubelet/pkg/apis/podresources`).
 */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';

/** A pod and its containers. None of them has exclusive devices, CPUs or memory. */
export interface PodResources {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly string[];
}

/** Returns the tag of a length-delimited field. */
const fieldTag = (number: number): number => number * 8 + 2;

/**
 * Encodes `ListPodResourcesResponse`, or `GetPodResourcesResponse` with one pod. The messages of v1alpha1 are the same.
 */
export function encodePods(pods: readonly PodResources[]): Buffer {
  const writer = new BinaryWriter();
  for (const pod of pods) {
    writer.uint32(fieldTag(1)).fork();
    for (const [number, text] of [
      [1, pod.name],
      [2, pod.namespace],
    ] as const)
      if (text !== '') writer.uint32(fieldTag(number)).string(text);
    for (const name of pod.containers) writer.uint32(fieldTag(3)).fork().uint32(fieldTag(1)).string(name).join();
    writer.join();
  }
  return Buffer.from(writer.finish());
}

/**
 * Encodes an empty `AllocatableResourcesResponse`, as returned by a kubelet without CPU, memory and device managers.
 */
export const encodeEmptyResponse = (): Buffer => Buffer.alloc(0);

export interface RequestedPod {
  readonly name: string;
  readonly namespace: string;
}

/** Decodes `GetPodResourcesRequest`. Throws if the bytes are invalid. */
export function decodeRequestedPod(bytes: Uint8Array): RequestedPod {
  const reader = new BinaryReader(bytes);
  let [name, namespace] = ['', ''];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === fieldTag(1)) name = reader.string();
    else if (tag === fieldTag(2)) namespace = reader.string();
    else reader.skip(tag & 7);
  }
  return { name, namespace };
}
