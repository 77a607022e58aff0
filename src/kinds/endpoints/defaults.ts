import type { Endpoints } from './types.ts';

export function defaultEndpoints(endpoints: Endpoints): Endpoints {
  const { subsets } = endpoints;
  if (subsets === undefined) return endpoints;
  return {
    ...endpoints,
    subsets: subsets.map((subset) =>
      subset.ports === undefined
        ? subset
        : {
            ...subset,
            ports: subset.ports.map(({ appProtocol, ...port }) => ({
              ...port,
              protocol: port.protocol || 'TCP',
              ...(appProtocol === undefined ? {} : { appProtocol }),
            })),
          },
    ),
  };
}
