# askwise with the page, photos and texts: docker build -t askwise . && see below.
# This file has not been built in the project's tests, which have no Docker; tell us if it fails.
#
#   docker run --rm -v "$PWD:/data" askwise new pets --images photos/
#   docker run --rm -v "$PWD:/data" --network host askwise label pets --no-browser
#
# The page listens on the machine's own address alone, hence `--network host` (Linux).
FROM python:3.11-slim

RUN useradd --create-home askwise
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE CHANGELOG.md DESIGN.md ./
COPY src ./src
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
    -c constraints.txt ".[vision,text]" && rm -rf /build

USER askwise
WORKDIR /data
ENTRYPOINT ["askwise"]
CMD ["--help"]
