/**
 * Returns the value of a map for a name that comes from outside the agent. Maps that are serialized to JSON are plain
 * objects, which inherit properties such as `constructor` and `toString`. A plain read of such a name would return the
 * inherited function. Therefore, use only this function or `Object.hasOwn` to read these maps, and rebuild them (`{
 * ...map, [name]: value }`) instead of modifying them.
 */
export const lookUp = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
