# Scepter in an image: slim, not root, built from the wheel, kernels compiled once at the build.
#
#   python -m pip wheel --no-deps -w dist .
#   docker build -t scepter .
#   docker run --rm -v "$PWD:/data" scepter run fall.spaseq --stream Prices=prices.trig
#
# With Java for --engine spark:  docker build --build-arg EXTRAS='[jdk]' -t scepter:spark .
ARG PYTHON=3.12
FROM python:${PYTHON}-slim AS build
ARG EXTRAS=""
COPY constraints.txt dist/scepter-*.whl /wheels/
RUN python -m venv /opt/scepter \
 && wheel="$(echo /wheels/scepter-*.whl)" \
 && /opt/scepter/bin/pip install --no-cache-dir -c /wheels/constraints.txt "scepter${EXTRAS} @ file://${wheel}"

FROM python:${PYTHON}-slim
COPY --from=build /opt/scepter /opt/scepter
RUN useradd --create-home --uid 10001 scepter && mkdir -p /var/cache/scepter && chown scepter /var/cache/scepter
# Kernels are kept where the user may write, for the processor of the machine that builds the image. On another kind of
# processor each container would compile them again: give it a volume for /var/cache/scepter.
ENV PATH="/opt/scepter/bin:$PATH" NUMBA_CACHE_DIR=/var/cache/scepter/kernels XDG_CACHE_HOME=/var/cache/scepter \
    PYTHONDONTWRITEBYTECODE=1
USER scepter
RUN scepter doctor --run
WORKDIR /data
ENTRYPOINT ["scepter"]
CMD ["--help"]
