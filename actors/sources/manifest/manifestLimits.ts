/**
 * Defines limits on the size of manifests. The kubelet reads at most 10 MiB of a file or a response (`config/file.go`)
 * and has no other limits.
 */
import type { TextLimits } from '../../../kubernetes/yaml/boundedYaml.ts';
import { MAX_FILE_BYTES } from '../yaml/textFile.ts';

/** Maximum size of a file or response in bytes. */
export const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/**
 * Limits of a ConfigMap or Secret. An API server stores up to 1 MiB of data (`objectManifest.ts`). A manifest contains
 * the data as base64 in short lines, plus metadata.
 */
export const objectLimits: TextLimits = { tokens: 400_000, values: 10_000, characters: 2 * 1024 * 1024 };

/** Limits of one pod, because every value is processed by the schema, the validation and all code that uses the pod. */
export const podLimits: TextLimits = { tokens: 100_000, values: 10_000, characters: MAX_FILE_BYTES };

/** Limits of a file, which may contain many pods. */
export const fileLimits: TextLimits = { tokens: 400_000, values: 100_000, characters: MAX_TEXT_BYTES };

/** Limits of a response, which may contain many pods. */
export const responseLimits: TextLimits = { tokens: 1_000_000, values: 200_000, characters: MAX_TEXT_BYTES };

/**
 * Limits of content that can be parsed on the event loop within a few milliseconds. Nearly all manifests are within
 * these limits. Larger content is parsed in a thread.
 */
export const loopLimits: TextLimits = { tokens: 2_000, values: 1_000, characters: 8_192 };
