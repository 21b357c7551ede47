/**
 * Rejects an outdated version of Node.js when the library is imported, before any code uses a feature that the version
 * lacks.
 */
const REQUIRED_MAJOR = 24;

/** Returns the reason why a version of Node.js such as `20.11.0` cannot run the library, or undefined if it can. */
export function unsupportedVersionProblem(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= REQUIRED_MAJOR) return undefined;
  return `statelet needs Node.js ${REQUIRED_MAJOR}, but this is Node.js ${version}`;
}

const versionProblem = unsupportedVersionProblem(process.versions.node);
if (versionProblem !== undefined) throw new Error(versionProblem);
