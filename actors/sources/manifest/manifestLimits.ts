/** How large what brings pods may be. A kubelet reads 10 MiB of either (`config/file.go`), and bounds nothing else. */
import type { TextLimits } from '../../../kubernetes/yaml/boundedYaml.ts';
import { LARGEST_FILE } from '../yaml/textFile.ts';

/** The largest file of manifests, and the largest answer of their URL, in bytes: as escapes or base64 data takes room. */
export const LARGEST_TEXT = 10 * 1024 * 1024;

/**
 * What a ConfigMap or Secret may consist of: the 1 MiB of data that an API server stores of one (`objectManifest.ts`) as
 * base64 in short lines, and its metadata.
 */
export const objectLimits: TextLimits = { tokens: 400_000, values: 10_000, characters: 2 * 1024 * 1024 };

/** What one pod may consist of: each value is looked at by the schema, the rules, and all who pass the pod on. */
export const podLimits: TextLimits = { tokens: 100_000, values: 10_000, characters: LARGEST_FILE };

/** What a file may consist of, with many pods. */
export const fileLimits: TextLimits = { tokens: 400_000, values: 100_000, characters: LARGEST_TEXT };

/** What an answer may consist of, with many pods. */
export const answerLimits: TextLimits = { tokens: 1_000_000, values: 200_000, characters: LARGEST_TEXT };

/** What is read on the event loop in a few milliseconds, as almost every manifest; more than that is a thread's work. */
export const loopLimits: TextLimits = { tokens: 2_000, values: 1_000, characters: 8_192 };
