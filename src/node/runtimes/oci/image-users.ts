// Users and groups of an image: the text of its /etc/passwd and /etc/group in, the identity of a container out. As container runtimes do,
// lines that are none are skipped.
export type ImageUsers = {
  readonly users: readonly ImageUser[];
  readonly groups: readonly ImageGroup[];
};

export type ImageUser = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
};

export type ImageGroup = {
  readonly name: string;
  readonly gid: number;
  readonly members: readonly string[];
};

/** Of a container; absent: the spec does not say. */
export type RequestedIdentity = {
  /** `USER` of the image: `user`, `uid`, `user:group` and so on. */
  readonly imageUser?: string;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
};

export type ImageIdentity = {
  readonly uid: number;
  readonly gid: number;
  /** Groups of the image that have the user as a member. */
  readonly groups: readonly number[];
  readonly home: string;
};

/** The kernel's last uid and gid means "none". */
const maxId = 4294967294;
/** Of one file, which is up to a mebibyte of an image that may be hostile. */
const maxEntries = 50_000;

export function parseUsers(passwd: string, group: string): ImageUsers {
  return {
    users: entriesOf(passwd).flatMap(([name = '', , uid, gid, , home = '']) => {
      const [user, primary] = [idOf(uid), idOf(gid)];
      return user === undefined || primary === undefined
        ? []
        : [{ name, uid: user, gid: primary, home }];
    }),
    groups: entriesOf(group).flatMap(([name = '', , gid, members = '']) => {
      const id = idOf(gid);
      return id === undefined ? [] : [{ name, gid: id, members: members.split(',') }];
    }),
  };
}

function entriesOf(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n', maxEntries).filter((line) => line !== '' && line[0] !== '#');
  return lines.map((line) => line.trim().split(':'));
}

function idOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined;
  const id = Number(text);
  return id <= maxId ? id : undefined;
}

/** The user part of `USER` where it is a number; otherwise its name, unless it is empty. Upstream: containerd's getUserFromImage. */
export function imageUserOf(imageUser = ''): { readonly uid?: number; readonly name?: string } {
  const [user = ''] = imageUser.split(':', 1);
  const uid = idOf(user);
  if (uid !== undefined) return { uid };
  return user === '' ? {} : { name: user };
}

export type IdentityVerdict = { readonly identity: ImageIdentity } | { readonly problem: string };

/** What the spec says comes first; a user that the image does not know has group 0. */
export function imageIdentity(
  { users, groups }: ImageUsers,
  { imageUser = '', runAsUser, runAsGroup }: RequestedIdentity,
): IdentityVerdict {
  const [ofImage = '', groupOfImage = ''] = imageUser.split(':', 2);
  const wanted = runAsUser === undefined ? ofImage : String(runAsUser);
  const uid = wanted === '' ? 0 : idOf(wanted);
  const user = users.find((one) => (uid === undefined ? one.name === wanted : one.uid === uid));
  if (uid === undefined && user === undefined)
    return { problem: `unable to find user ${wanted}: no matching entries in passwd file` };
  const named = runAsUser === undefined && runAsGroup === undefined ? groupOfImage : '';
  const group = groups.find((one) => one.name === named || one.gid === idOf(named))?.gid;
  const ofGroup = group ?? idOf(named);
  if (named !== '' && ofGroup === undefined)
    return { problem: `unable to find group ${named}: no matching entries in group file` };
  return {
    identity: {
      uid: user?.uid ?? uid ?? 0,
      gid: runAsGroup ?? ofGroup ?? user?.gid ?? 0,
      groups:
        user === undefined
          ? []
          : [...new Set(groups.filter((one) => one.members.includes(user.name)).map((g) => g.gid))],
      home: user?.home || '/',
    },
  };
}
