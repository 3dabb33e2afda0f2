"""``nearfar cluster``: clusters of the objects by kernel k-means."""

from __future__ import annotations

from nearfar._tools.text import count
from nearfar.cli._options import METHOD, Given, own, takes
from nearfar.cli._prepared import prepared
from nearfar.cli._writing import check_outputs, write_all


@takes(*METHOD, "images", "dask", "scratch")
def cluster(
    given: Given,
    clusters: int = own(..., "How many clusters.", "--clusters", "-k", min=1),
    starts: int = own(10, "Runs; the best is kept.", min=1),
) -> None:
    """Sort the objects into clusters by kernel k-means.

    A table has a row per object: its cluster (1 is the largest), whether it is the medoid, the most typical object
    of its cluster, and whether any answer concerns it. A picture is a map coloured by cluster.

    Example:  nearfar cluster answers.csv -k 4 -o clusters.csv -o clusters.png
    """
    check_outputs(given)
    with prepared(given) as ready:
        made = ready.clusters(clusters, starts, given.seed)
        given.tell(ready.headline)
        for c, x in enumerate(made.medoids):
            if x >= 0:
                size = count(int(made.sizes[c]), "object")
                given.tell(f"cluster {c + 1}: {size} around {ready.display_names[x]}")
        labels, medoids, uninformed = made.labels + 1, made.medoids[made.medoids >= 0], made.uninformed
        arrays = {"cluster": labels, "objects": ready.names, "uninformed": uninformed, "medoids": medoids}
        typical = [x in medoids for x in range(len(ready.names))]
        write_all(
            given,
            table=lambda: ready.table(uninformed, cluster=labels, medoid=typical),
            arrays=lambda: {**arrays, "inertia": made.inertia, "model": ready.space.model},
            picture=lambda look: ready.picture(look, ready.map(2)[0], made.uninformed, made.labels),
        )
