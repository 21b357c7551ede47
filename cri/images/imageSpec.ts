import type { ImageSpec } from '../generated/runtime.ts';

/** Builds the name of an image as the CRI takes it. A pod's annotations go with the images of its containers. */
export const imageSpec = (image: string, annotations: Readonly<Record<string, string>> = {}): ImageSpec => ({
  image,
  annotations,
  userSpecifiedImage: image,
  runtimeHandler: '',
  imageRef: '',
});
