// Which owners this process can give to files: those that its user namespace maps. Pure.

type Range = { readonly first: number; readonly count: number };

export type OwnerMap = {
  /** Without the right to change owners, files belong to this process. */
  readonly canChange: boolean;
  readonly users: readonly Range[];
  readonly groups: readonly Range[];
};

/** The value that means «do not change». */
const noId = 0xffff_ffff;

/** A line of /proc/self/uid_map: first inside, first outside, count. */
export function parseIdMap(text: string): readonly Range[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .map(([first = '', , count = '']) => ({ first: Number(first), count: Number(count) }))
    .filter(({ first, count }) => Number.isSafeInteger(first) && Number.isSafeInteger(count));
}

/** IDs that do not exist here become 0: with a single ID, that is the only one. */
export function mapOwner(
  { users, groups }: OwnerMap,
  owner: { readonly uid: number; readonly gid: number },
): { readonly uid: number; readonly gid: number } {
  return { uid: mapped(users, owner.uid), gid: mapped(groups, owner.gid) };
}

const mapped = (ranges: readonly Range[], id: number): number =>
  id < noId && ranges.some(({ first, count }) => id >= first && id < first + count) ? id : 0;
