import type { ImageSpec } from '../generated/runtime.ts';

/** Builds the CRI's image spec. For a container's image, `annotations` contains the annotations of the pod. */
export const imageSpec = (image: string, annotations: Readonly<Record<string, string>> = {}): ImageSpec => ({
  image,
  annotations,
  userSpecifiedImage: image,
  runtimeHandler: '',
  imageRef: '',
});
