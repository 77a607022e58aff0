// A user as reviews show it.
import * as s from '../../schema/node.ts';
import type { User } from '../access/user.ts';

export const userInfo = s.struct(
  'UserInfo',
  {
    username: s.string('Name of the user.'),
    uid: s.string('Identity that outlives a change of name.'),
    groups: s.list(s.string(), 'Groups of the user.', { listType: 'atomic' }),
    extra: s.map(s.list(s.string()), 'What else the authenticator said.'),
  },
  { numbers: [1, 2, 3, 4] },
);
export type UserInfo = s.Static<typeof userInfo>;

export function userInfoOf({ name, uid, groups, extra }: User): UserInfo {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === undefined || uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
