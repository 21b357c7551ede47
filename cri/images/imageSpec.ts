import type { ImageSpec } from '../generated/runtime.ts';

/** Builds the CRI's image spec. For the images of containers, `annotations` are those of the pod. */
export const imageSpec = (image: string, annotations: Readonly<Record<string, string>> = {}): ImageSpec => ({
  image,
  annotations,
  userSpecifiedImage: image,
  runtimeHandler: '',
  imageRef: '',
});
