/** Rejects an import of the library by a Node.js that is too old, before anything that the old version lacks is used. */
const REQUIRED_MAJOR = 24;

/** Returns why a version of Node.js such as `20.11.0` cannot run the library; undefined if it can. */
export function whyTooOld(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= REQUIRED_MAJOR) return undefined;
  return `statelet needs Node.js ${REQUIRED_MAJOR}, but this is Node.js ${version}`;
}

const problem = whyTooOld(process.versions.node);
if (problem !== undefined) throw new Error(problem);
